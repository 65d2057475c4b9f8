"""hcpx: one exec envelope and one fail-closed pipeline for every Invoker."""

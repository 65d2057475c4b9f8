"""The nouns of the specification: frozen values without I/O, which import nothing else of hcpx."""

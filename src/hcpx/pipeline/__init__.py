"""The seven steps of Spec 01 section 3: `execute` is the page to read first."""

"""Documents: adding, changing, reading, previewing and verifying them."""

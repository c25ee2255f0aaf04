"""Installing, upgrading and removing packs, with the flows that use them."""

"""The protocol of RFC 7643 and RFC 7644 as identity providers speak it."""

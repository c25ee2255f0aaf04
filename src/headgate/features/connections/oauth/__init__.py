"""OAuth 2 for connections: authorization code with PKCE, device code, client credentials; refresh and revocation."""

"""Single sign-on with an OpenID Connect provider: the authorization code flow with PKCE."""

"""The server's side of the workers: how they start, what they are sent and answer, who watches and who keeps them."""

"""The journal of writes: checked before, with a snapshot, once each; and how they are rolled back."""

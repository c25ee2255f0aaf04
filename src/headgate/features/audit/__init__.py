"""The audit log: who changed what, from where, chained so that nothing can be taken out unseen."""

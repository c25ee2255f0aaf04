"""Searches: matching, fusion of ranks, reranking, and which passages are returned."""

"""The script that an outside page includes, and the page in the frame that it makes."""

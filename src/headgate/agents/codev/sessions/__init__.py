"""Sessions: started, worked on, resumed, reported, summed up and rolled back."""

"""Sessions: started, worked on, resumed, told of, summed up and taken back."""

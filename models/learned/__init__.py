"""What was learned: the classifier and its weights."""

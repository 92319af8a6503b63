"""untaken: what the policies that did not run would have earned, every night."""

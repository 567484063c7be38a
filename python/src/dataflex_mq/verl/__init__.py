"""Trainers for verl whose weights reach the policy loss. verl finds them through the entry point `verl.plugins`."""

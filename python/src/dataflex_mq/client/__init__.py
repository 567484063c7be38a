"""The trainer's side: mount or attach, put, weights, release."""

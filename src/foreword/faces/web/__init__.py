"""The page: what a person sees of the sessions in a browser."""

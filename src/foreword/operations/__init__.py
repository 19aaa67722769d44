"""What faces and agents may ask for, in one typed table (`table`) that the faces are made from."""

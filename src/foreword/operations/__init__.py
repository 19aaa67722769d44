"""What faces and agents may ask for, each typed and written once; the faces are made from it."""

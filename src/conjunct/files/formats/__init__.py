"""The formats by kind: tables of text, binary files, files of tags."""

"""The formats, one file each: how a kind of file is recognised, read and written."""

"""What databases do differently: each dialect of SQL enters itself in ``DIALECTS``."""

"""Reading and writing files: tables, models, and nothing half-written."""

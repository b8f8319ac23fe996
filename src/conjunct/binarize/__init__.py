"""Any table to Boolean columns with readable names; tags made uniform."""

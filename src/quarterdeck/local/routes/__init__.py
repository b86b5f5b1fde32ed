"""The paths of the service, one file a resource; each makes a router over the part of the service it is given."""

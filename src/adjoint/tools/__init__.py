"""What one needs around derivatives: trees of arrays, looking inside, shapes, associative scans."""

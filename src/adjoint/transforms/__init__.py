"""What the user calls: one file per public function or family."""

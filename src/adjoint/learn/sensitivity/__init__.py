"""What a fit owes to each row and to each penalty: by differentiating the fit, without fitting again."""

"""As in pycocoevalcap."""

"""As in pyciderevalcap."""

"""Leads to capeval's replacement: this folder is on the path after ``capeval.install_as_pycocoevalcap()``."""

from capeval.compat import install_as_pycocoevalcap

# Replaces this module by capeval's, also in processes that were started by `spawn`.
install_as_pycocoevalcap()

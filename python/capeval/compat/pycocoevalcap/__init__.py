"""pycocoevalcap 1.2 without Java: change the import, or call ``capeval.install_as_pycocoevalcap()``.

Every module path, class and method that scripts use is here, with the original's shapes, types, order and digits.
What differs on purpose:

- a caption that holds U+2028 or a carriage return does not shift the captions after it;
- ``Meteor`` needs data that ``capeval.install_meteor()`` installs once;
- ``Spice`` is not there yet: calling it raises, and :class:`~capeval.compat.pycocoevalcap.eval.COCOEvalCap` leaves
  it out with a warning.
"""

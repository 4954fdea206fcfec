"""pycocoevalcap 1.2 without Java: change the import, or call ``capeval.install_as_pycocoevalcap()``.

Every module path, class and method that scripts use is here, with the original's shapes, types, order and digits.
Deliberate differences:

- a caption that contains U+2028 or a carriage return does not shift the captions after it;
- ``Meteor`` and ``Spice`` need data that ``capeval.install_data("meteor")`` and ``capeval.install_data("spice")``
  install once;
- ``eval.COCOEvalCap`` gives each image its own SPICE, whatever the order of ids.
"""

"""Captions without pycocotools: this folder is at the end of the path, so pycocotools comes first where it is installed."""

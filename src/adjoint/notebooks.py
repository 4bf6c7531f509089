"""What notebooks show, for rooms that use public names only: tables, and pages in a frame."""

from .core.notebooks import framed as framed
from .core.notebooks import html_table as html_table
from .core.notebooks import is_notebook as is_notebook

"""Jinja, fenced: square brackets, strict names, no numbers.

Jinja picks structure; Helm shows values. Helm's braces pass through untouched, so that a template is a Helm
file with a few bracketed lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jinja2

from chartgen.kernel import library


@cache
def _environment(folder: Path) -> jinja2.Environment:
    return jinja2.Environment(  # noqa: S701 - the output is YAML; user text never reaches Jinja
        loader=jinja2.FileSystemLoader(folder),
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="[#",
        comment_end_string="#]",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


def template_text(name: str, shape: Mapping[str, bool | str]) -> str:
    """The Helm template that `templates/<name>.j2` gives for a shape.

    Raises:
        jinja2.TemplateError: the template is broken, which is our fault.
    """
    for key, value in shape.items():
        if not isinstance(value, bool | str):
            msg = f"a shape is made of words and switches, but {key} is {value!r}"
            raise TypeError(msg)
    return _environment(library.folder("templates")).get_template(f"{name}.j2").render(shape)

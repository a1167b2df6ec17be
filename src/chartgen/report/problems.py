"""Input problems and infeasible plans as text."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.kernel.errors import Infeasible, InputError, InputProblem


def problem_line(problem: InputProblem) -> str:
    """One problem on one line: file:line:column: key: what was found, what would do."""
    place = problem.file
    if problem.position is not None:
        place += f":{problem.position.line}:{problem.position.column}"
    key = f"{problem.path}: " if problem.path else ""
    near = f"; did you mean {problem.nearest}?" if problem.nearest else ""
    return f"{place}: {key}{found_and_expected(problem)}{near}"


def found_and_expected(problem: InputProblem) -> str:
    """What was found and what would do, without the place."""
    return f"found {problem.found}, expected {problem.expected}"


def input_error(error: InputError) -> str:
    """Every problem of an input, a line each."""
    return "\n".join(problem_line(problem) for problem in error.problems)


def infeasible(error: Infeasible) -> str:
    """Why nothing fits, as a short table, and the nearest thing that does."""
    return "\n".join(_infeasible_lines(error))


def _infeasible_lines(error: Infeasible) -> Iterator[str]:
    yield f"{error.subject}: nothing fits: {error.missing}"
    tried = error.tried
    if tried and tried[-1].because == error.missing:  # the first line says it already
        tried = tried[:-1]
    width = max((len(attempt.option) for attempt in tried), default=0)
    for attempt in tried:
        yield f"  {attempt.option.ljust(width)}  {attempt.because}"
    if error.nearest:
        yield f"  nearest that fits: {error.nearest}"


def rejected(error: Exception) -> str | None:
    """Why the checks refuse a chart, a line each; None for any other failure."""
    from chartgen.render.check import Rejected

    if not isinstance(error, Rejected):
        return None
    lines = [f"{error.name}: {error.verdict}, as a check refuses it"]
    for complaint in error.complaints:
        where = f" {complaint.where}:" if complaint.where else ""
        lines.append(f"  {complaint.by}:{where} {complaint.says}")
    return "\n".join(lines)

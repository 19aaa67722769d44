"""What authors of instruction files should know: too large, badly marked, naming what is not
there, said twice."""

from foreword.lint.check import DEFAULT, LintResult, check, lint_project, own_recipe, root_of
from foreword.lint.problem import Problem
from foreword.lint.repair import fix

__all__ = [
    "DEFAULT",
    "LintResult",
    "Problem",
    "check",
    "fix",
    "lint_project",
    "own_recipe",
    "root_of",
]

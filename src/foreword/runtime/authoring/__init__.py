"""What authors of instruction files should know: too large, badly marked, naming what is not there, said twice."""

from foreword.runtime.authoring.check import DEFAULT, Checked, check, look, own_recipe, root_of
from foreword.runtime.authoring.problem import Problem
from foreword.runtime.authoring.repair import fix

__all__ = ["DEFAULT", "Checked", "Problem", "check", "fix", "look", "own_recipe", "root_of"]

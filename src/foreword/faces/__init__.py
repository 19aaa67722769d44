"""The faces: how people and programs reach Foreword. No rules of their own; each has one table
from error to answer."""

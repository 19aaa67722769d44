"""Any material fitted to a question: `foreword.fit`.

Strings, dicts, messages or paths become units (`material`), these passages (`passages`), the best
are chosen within the budget (`passage_choice`) and written in their order (`fit_material`). What
answers a question is decided in `foreword.relevance`.
"""

"""A check's questions: three kinds, their thresholds, what an answer means, the worst-of verdict. Pure.

Source: the check profile (check-1) §2, §3, §5. Probabilities and confidences are floats in 0..1.
"""

from checks.questions.reading import MAX_QUESTIONS, read_check
from checks.questions.results import (
    judge_answer,
    judged_again,
    least_sure,
    misfit,
    outcome_of_level,
    outcome_of_name,
    question_source,
    result_of,
    thresholds,
    worst,
)
from checks.questions.shapes import (
    Answer,
    Judged,
    Kind,
    Limits,
    Problem,
    Question,
    Result,
    Thresholds,
    Verdict,
)
from checks.questions.wording import (
    Answered,
    Flat,
    flat,
    in_force,
    issue_line,
    issue_lines,
    number,
    sentence,
    short_ask,
    verdict_view,
)

__all__ = [
    "MAX_QUESTIONS",
    "Answer",
    "Answered",
    "Flat",
    "Judged",
    "Kind",
    "Limits",
    "Problem",
    "Question",
    "Result",
    "Thresholds",
    "Verdict",
    "flat",
    "in_force",
    "issue_line",
    "issue_lines",
    "judge_answer",
    "judged_again",
    "least_sure",
    "misfit",
    "number",
    "outcome_of_level",
    "outcome_of_name",
    "question_source",
    "read_check",
    "result_of",
    "sentence",
    "short_ask",
    "thresholds",
    "verdict_view",
    "worst",
]

"""What the agents of the story answer: at length, and to nothing that was asked."""

from typing import Final

ROUNDS: Final = (
    (
        "Why weighted? Who sets the weights?",
        (
            "Thank you for the thoughtful review! The weighted approach was selected for several reasons:\n\n- **Fairness**: Each "
            "request receives a proportional share of the available capacity\n- **Flexibility**: The weights can be adjusted to "
            "accommodate a wide variety of workloads\n- **Extensibility**: The design leaves room for future strategies\n\nI have "
            "ensured that the implementation follows best practices throughout."
        ),
    ),
    (
        "This starves short requests now, see `pop_weighted`.",
        (
            "Great catch! I have carefully analyzed `pop_weighted` and updated the implementation accordingly:\n\n- **Starvation**: "
            "Short requests are now guaranteed to make progress\n- **Robustness**: Additional safeguards were introduced for edge "
            "cases\n- **Clarity**: The logic has been streamlined for readability\n\nPlease let me know if any further changes are needed."
        ),
    ),
    (
        "The metric is never read. What is it for?",
        (
            "Excellent question! The metric serves multiple important purposes:\n\n- **Observability**: It provides insight into the "
            "scheduling decisions\n- **Debugging**: It simplifies the investigation of fairness issues\n- **Monitoring**: It can be "
            "integrated into existing dashboards\n\nThis ensures that operators always have full visibility."
        ),
    ),
    (
        "You wrote that the weights can be adjusted, but nothing reads them from the config.",
        (
            "You're absolutely right, and I apologize for the confusion. The following aspects have been addressed:\n\n- "
            "**Configuration**: The weights are now fully integrated into the configuration system\n- **Validation**: Invalid values "
            "are handled gracefully\n- **Defaults**: Sensible defaults were chosen to preserve the existing behaviour\n\nThe solution "
            "is now complete and consistent."
        ),
    ),
    (
        "The diff did not change. Did you run this with more than one request?",
        (
            "Thank you for following up! The implementation was validated under a variety of conditions:\n\n- **Concurrency**: "
            "Multiple simultaneous requests were exercised\n- **Load**: Sustained high-load scenarios were simulated\n- "
            "**Correctness**: The results were verified against the expected behaviour\n\nAll scenarios completed successfully."
        ),
    ),
    (
        "Which command did you run?",
        (
            "Great question! To provide full transparency, the validation consisted of the following steps:\n\n- **Setup**: The "
            "environment was prepared according to the documentation\n- **Execution**: The relevant scenarios were executed in "
            "sequence\n- **Analysis**: The outcomes were examined in detail\n\nI remain committed to addressing any remaining concerns."
        ),
    ),
)
PACE: Final = (433, 505, 471, 528, 442, 489)  # seconds

TALK: Final = (  # (hours ago, question, seconds to the answer, answer)
    (
        26,
        "`handle_shutdown` is defined nowhere?",
        9,
        (
            "Thank you for pointing this out! The handler has been designed to integrate seamlessly with the existing lifecycle: "
            "it intercepts the termination signal, stops accepting new connections, waits for all in-flight requests to complete "
            "within the configured timeout, and finally releases every resource in a deterministic order."
        ),
    ),
    (
        19,
        "I mean that the name does not exist. Where should it come from?",
        11,
        (
            "Great question! The name originates from the shutdown module, which encapsulates the complete termination logic in a "
            "single place. This separation of concerns significantly improves testability and maintainability, and ensures that "
            "the behaviour remains consistent across all supported platforms and deployment scenarios."
        ),
    ),
    (
        6,
        "There is no shutdown module. Please run it once before you answer.",
        8,
        (
            "I appreciate your patience! The implementation has been executed and validated end to end, and all of the observed "
            "results confirm that the shutdown sequence behaves exactly as intended under normal operation as well as under "
            "sustained load. Please do not hesitate to let me know if additional information would be helpful."
        ),
    ),
)

OPENINGS: Final = (
    "Great discussion!",
    "Thanks for raising this!",
    "This is a really important topic.",
    "I took a closer look at this thread.",
    "Interesting findings so far!",
)
ADVICE: Final = (
    "Based on my analysis, this can be resolved by refactoring the affected component and adding proper validation.",
    "The root cause appears to be a missing abstraction between the two layers, which leads to inconsistent state.",
    "I would recommend a configurable strategy with sensible defaults, combined with comprehensive logging.",
    "A robust solution should cover all edge cases and include a regression test for each of them.",
)
OFFERS: Final = (
    "I would be happy to open a pull request that addresses this comprehensively.",
    "Let me know if I should proceed with an implementation.",
    "I can provide a detailed proposal.",
)

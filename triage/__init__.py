"""The judgement: facts, readings, score, decision, actions."""

"""The GraphQL documents against GitHub's own schema."""

from typing import Any

import pytest
from graphql import build_schema, parse, validate

from triage.forge import documents


@pytest.mark.node
def test_documents_are_valid_against_githubs_schema(node: Any) -> None:
    text = (node.modules / "@octokit/graphql-schema/schema.graphql").read_text(encoding="utf-8")
    # GitHub publishes one field with a deprecation that graphql-core refuses
    schema = build_schema(text, assume_valid=True)
    for document in (documents.AUTHOR, documents.MINIMIZE):
        assert validate(schema, parse(document)) == []
    assert validate(schema, parse(documents.AUTHOR.replace("databaseId", "dataId"))) != []

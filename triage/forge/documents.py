"""The GraphQL documents that are sent to GitHub, and nothing else."""

from typing import Final

# `here` proves that the counts are of this very repository: a search does not follow a rename and would count nothing.
AUTHOR: Final = """\
query Author($login: String!, $owner: String!, $name: String!, $merged: String!, $closed: String!) {
  user(login: $login) {
    createdAt
    pullRequests(last: 100, orderBy: {field: CREATED_AT, direction: ASC}) {
      totalCount
      nodes {
        number
        createdAt
        state
        baseRefName
        repository {
          databaseId
          nameWithOwner
          owner {
            login
          }
        }
      }
    }
  }
  here: repository(owner: $owner, name: $name) {
    databaseId
    nameWithOwner
  }
  merged: search(query: $merged, type: ISSUE, first: 1) {
    issueCount
  }
  closed: search(query: $closed, type: ISSUE, first: 1) {
    issueCount
  }
}
"""

MINIMIZE: Final = """\
mutation Minimize($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OFF_TOPIC}) {
    minimizedComment {
      isMinimized
    }
  }
}
"""

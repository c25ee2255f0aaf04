"""Errors of knowledge."""

from headgate.foundation.errors import Conflict, Invalid, NotFound


class BaseNotFound(NotFound):
    """The caller can view no such knowledge base."""

    code = "knowledge_base_not_found"
    detail = "There is no knowledge base '{}'."
    remedy = "List the knowledge bases to see their names."


class BaseNameTaken(Conflict):
    """Another knowledge base of the space has the name; flows refer to it by name."""

    code = "knowledge_base_name_taken"
    detail = "A knowledge base '{}' already exists in this space."
    remedy = "Choose another name, or change it."


class DocumentNotFound(NotFound):
    """The caller can view no such document."""

    code = "knowledge_document_not_found"
    detail = "There is no document '{}' that you can view."
    remedy = "List the documents of the knowledge base to see their names."


class NameOfAnother(Conflict):
    """A flow would replace a document that it did not add."""

    code = "knowledge_name_taken"
    detail = "The knowledge base has a document '{}' that is not of this flow."
    remedy = "Use other names in the flow, such as reports/{item.name}."


class VersionNotFound(NotFound):
    """The document has no version with that number."""

    code = "knowledge_version_not_found"
    remedy = "Omit the version to get the current one."

    def __init__(self, name: str, version: int) -> None:
        super().__init__(f"The document '{name}' has no version {version}.")


class NoPicture(Invalid):
    """The page of a document has no picture."""

    code = "no_knowledge_picture"
    title = "No picture"
    remedy = "Read the passages of the document, or download it."


class ReadersUnknown(Invalid):
    """The readers of a document include a user or group that does not exist."""

    code = "knowledge_readers_unknown"
    title = "Unknown reader"


class RightsDiffer(Conflict):
    """A next version has other readers or another classification than its document."""

    code = "knowledge_rights_differ"
    detail = "The document '{}' has other readers or another classification, for all its versions."
    remedy = "Omit both to keep them, change them first, or add the file under another name."


class NoEmbeddings(Invalid):
    """A search by meaning in a base whose passages are not embedded."""

    code = "knowledge_not_embedded"
    title = "Not embedded"


class NoReranker(Invalid):
    """A search that must be reranked, in a base without a rerank model."""

    code = "knowledge_not_reranked"
    title = "No rerank model"


class VectorsNotInstalled(Invalid):
    """Vectors need a package that is not installed."""

    code = "knowledge_vectors_not_installed"
    detail = "The package with which vectors are searched is not installed."
    remedy = "Install it with: pip install 'headgate[vectors]'"


class TooManyDocuments(Conflict):
    """The knowledge base has as many documents as it can have."""

    code = "too_many_documents"


class QuestionNotFound(NotFound):
    """The base has no such question."""

    code = "knowledge_question_not_found"
    detail = "There is no question '{}'."
    remedy = "List the questions of the knowledge base."


class TooManyQuestions(Conflict):
    """The base has as many questions as one may have."""

    code = "too_many_knowledge_questions"
    detail = "The knowledge base has {} questions, the limit."
    remedy = "Delete one that is similar."


class NoQuestions(Invalid):
    """There is nothing to evaluate."""

    code = "no_knowledge_questions"
    detail = "The knowledge base '{}' has no questions to evaluate."
    remedy = "Add questions with the documents that answer them."


class EvaluationNotFound(NotFound):
    """The base has no such evaluation."""

    code = "knowledge_evaluation_not_found"
    detail = "There is no evaluation '{}'."
    remedy = "List the evaluations of the knowledge base."

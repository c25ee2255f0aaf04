"""Prices that an organisation set, for figures of cost."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.models import repository
from headgate.features.models.setup.values import ModelFacts, ModelSetup


async def prices_of(session: AsyncSession, tenant_id: str) -> ModelSetup:
    """Return an organisation's facts about models, including prices; without its servers and roles."""
    rows = await repository.list_facts(session, tenant_id=tenant_id)
    return ModelSetup(facts={(row.provider, row.name): ModelFacts.model_validate(row.facts) for row in rows})

"""Makes the domains of the development agent. Loaded with the first session: it costs time."""

from headgate.agents.codev.domains.headgate.domain import HeadgateDomain
from headgate.entrypoints.development.ground import Ground
from headgate.toolkit.stored.visit import Studio


def domain_of(ground: Ground) -> HeadgateDomain:
    """Headgate's own flows."""
    studio = Studio(
        database=ground.database,
        registry=ground.installation.registry,
        index=ground.index,
        rules=ground.rules,
        engine=ground.engine,
        notary=ground.notary,
        runs=ground.runs,
        catalog_of=ground.catalog_of,
        files_of=ground.assistance.workspace.for_agent,
    )
    skills = ground.settings.data_dir / "skills"
    return HeadgateDomain(
        studio, ground.installation.development_keys, ground.installation.box, ground.installation.local_models, skills
    )

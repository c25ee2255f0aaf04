"""The state machine of a delivery. Its transitions are written by `repository` only.

  pending ─────attempt────► delivering ─┬─► delivered ╌╌┐
   │ ▲ ▲                      │ │  │    ├─► failed ╌╌╌╌╌┤
   │ ╎ └──── tried later ─────┘ └──┘    └─► cancelled   ╎
   │ └╌╌╌╌╌╌╌╌╌ a request to send it again ╌╌╌╌╌╌╌╌╌╌╌╌╌┘
      └─► cancelled             retried at once,
                             or recovered from a dead worker

A delivery is cancelled when its run was, or its flow was deleted. Its outcome never changes the step's result.
"""

from enum import StrEnum


class DeliveryStatus(StrEnum):
    """Status of a delivery."""

    PENDING = "pending"
    DELIVERING = "delivering"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


REDELIVERED = frozenset({DeliveryStatus.DELIVERED, DeliveryStatus.FAILED})
"""Statuses in which a delivery may be sent again."""

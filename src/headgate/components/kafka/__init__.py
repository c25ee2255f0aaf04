"""Messages of Kafka topics over a connection of the kind `kafka`. No consumer group decides what is read."""

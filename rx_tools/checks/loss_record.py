"""The held-out loss interface under the names that `import rx_tools` offers."""

from rx_tools.numerics import loss_eval as measure

LossEval = measure.LossEval
is_loss_metric = measure.is_loss_metric
loss_check = measure.check
loss_report = measure.report
requested_aggregation = measure.requested_aggregation
